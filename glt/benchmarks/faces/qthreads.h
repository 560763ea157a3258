/* Qthreads: a shepherd with one worker per thread. A unit is forked onto a shepherd and joined by reading the full/empty word
 * it returns to, which is how its own examples wait for one unit. */
#include <qthread/barrier.h>
#include <qthread/qthread.h>
#include <qthread/qtimer.h>
#include <qthread/sinc.h>

#include <stdio.h>
#include <stdlib.h>

#define LWT_LIBRARY "qthreads"
#define LWT_FORM "direct"
#define LWT_RESULT aligned_t
#define LWT_RETURN return 0

typedef aligned_t LwtUlt;
typedef aligned_t LwtTasklet;

static inline int lwt_begin(int threads)
{
    char number[16];
    snprintf(number, sizeof number, "%d", threads);
    setenv("QT_NUM_SHEPHERDS", number, 1);
    setenv("QT_NUM_WORKERS_PER_SHEPHERD", "1", 1);
    setenv("QT_HWPAR", number, 1);
    setenv("QT_STACK_SIZE", LWT_STACK_TEXT, 1);
    setenv("QT_AFFINITY", "no", 1);
    const int status = qthread_initialize();
    if (status != QTHREAD_SUCCESS) return status;
    return (int)qthread_num_shepherds() == threads ? 0 : -1;
}

static inline void lwt_end(void) { qthread_finalize(); }
static inline int lwt_steals(void) { return 0; }
static inline void lwt_yield(void) { qthread_yield(); }

static inline void lwt_ult_create_to(qthread_f function, void* argument, LwtUlt* ult, int thread)
{
    qthread_fork_to(function, argument, ult, (qthread_shepherd_id_t)thread);
}
static inline void lwt_ult_create(qthread_f function, void* argument, LwtUlt* ult)
{
    qthread_fork_to(function, argument, ult, qthread_shep());
}
static inline void lwt_ult_join(LwtUlt* ult) { qthread_readFF(NULL, ult); }

/* A simple unit runs on the shepherd's own stack. */
static inline void lwt_tasklet_create_to(qthread_f function, void* argument, LwtTasklet* tasklet, int thread)
{
    qthread_spawn(function, argument, 0, tasklet, 0, NULL, (qthread_shepherd_id_t)thread, QTHREAD_SPAWN_SIMPLE);
}
static inline void lwt_tasklet_create(qthread_f function, void* argument, LwtTasklet* tasklet)
{
    lwt_tasklet_create_to(function, argument, tasklet, qthread_shep());
}
static inline void lwt_tasklet_join(LwtTasklet* tasklet) { qthread_readFF(NULL, tasklet); }

#define LWT_BATCH
typedef struct LwtBatch {
    qt_sinc_t* sinc;
} LwtBatch;

static inline int lwt_batch_begin(LwtBatch* batch, int capacity)
{
    (void)capacity;
    batch->sinc = qt_sinc_create(0, NULL, NULL, 0);
    return batch->sinc ? 0 : -1;
}

static inline void lwt_batch_end(LwtBatch* batch) { qt_sinc_destroy(batch->sinc); }
static inline void lwt_batch_expect(LwtBatch* batch, int count) { qt_sinc_reset(batch->sinc, (size_t)count); }

static inline void lwt_batch_spawn(LwtBatch* batch, qthread_f function, qthread_shepherd_id_t to, unsigned flags)
{
    qthread_spawn(function, NULL, 0, batch->sinc, 0, NULL, to, QTHREAD_SPAWN_RET_SINC_VOID | flags);
}

static inline void lwt_batch_ult(LwtBatch* batch, int i, qthread_f function)
{
    (void)i;
    lwt_batch_spawn(batch, function, qthread_shep(), 0);
}

static inline void lwt_batch_ult_to(LwtBatch* batch, int i, qthread_f function, int thread)
{
    (void)i;
    lwt_batch_spawn(batch, function, (qthread_shepherd_id_t)thread, 0);
}

static inline void lwt_batch_tasklet(LwtBatch* batch, int i, qthread_f function)
{
    (void)i;
    lwt_batch_spawn(batch, function, qthread_shep(), QTHREAD_SPAWN_SIMPLE);
}

static inline void lwt_batch_join_ults(LwtBatch* batch, int count)
{
    (void)count;
    qt_sinc_wait(batch->sinc, NULL);
}

static inline void lwt_batch_join_tasklets(LwtBatch* batch, int count) { lwt_batch_join_ults(batch, count); }

typedef aligned_t LwtMutex;
static inline void lwt_mutex_create(LwtMutex* mutex) { *mutex = 0; }
static inline void lwt_mutex_lock(LwtMutex* mutex) { qthread_lock(mutex); }
static inline int lwt_mutex_trylock(LwtMutex* mutex) { return qthread_trylock(mutex) == QTHREAD_SUCCESS; }
static inline void lwt_mutex_unlock(LwtMutex* mutex) { qthread_unlock(mutex); }
static inline void lwt_mutex_free(LwtMutex* mutex) { (void)mutex; }
