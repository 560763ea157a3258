#pragma once
int linked_library_is_initialised(void);
int linked_library_threads(void);
