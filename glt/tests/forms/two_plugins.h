/* What a part shows to the program that opens it. */
struct two_plugins_part {
    int (*start)(void); /* a status */
    int (*work)(void);  /* 1 when units ran */
    void (*end)(void);
};
