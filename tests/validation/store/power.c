/* Logs what a process writes to the files of a folder, and when it syncs them: LD_PRELOAD, with UPRIGHT_FOLDER and
   UPRIGHT_LOG. A record: operation, length of the path, offset, length of the data; path; data. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

struct head { uint64_t operation, path, offset, size; };

static void put(char operation, const char *path, uint64_t offset, const void *data, uint64_t size) {
    const char *folder = getenv("UPRIGHT_FOLDER"), *log = getenv("UPRIGHT_LOG");
    if (!folder || !log || strncmp(path, folder, strlen(folder))) return;
    struct head head = {(uint64_t)operation, strlen(path), offset, size};
    char *record = malloc(sizeof head + head.path + size);
    memcpy(record, &head, sizeof head);
    memcpy(record + sizeof head, path, head.path);
    if (size) memcpy(record + sizeof head + head.path, data, size);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    syscall(SYS_write, fd, record, sizeof head + head.path + size);
    syscall(SYS_close, fd);
    free(record);
}

static void note(char operation, int fd, uint64_t offset, const void *data, uint64_t size) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return;
    path[length] = 0;
    put(operation, path, offset, data, size);
}

ssize_t write(int fd, const void *data, size_t size) {
    ssize_t done = syscall(SYS_write, fd, data, size);
    if (done > 0) note('W', fd, (uint64_t)lseek(fd, 0, SEEK_CUR) - (uint64_t)done, data, (uint64_t)done);
    return done;
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) {
    ssize_t done = syscall(SYS_pwrite64, fd, data, size, offset);
    if (done > 0) note('W', fd, (uint64_t)offset, data, (uint64_t)done);
    return done;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) { return pwrite64(fd, data, size, offset); }

int ftruncate64(int fd, off64_t size) {
    int failed = (int)syscall(SYS_ftruncate, fd, size);
    if (!failed) note('T', fd, (uint64_t)size, 0, 0);
    return failed;
}

int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

int fsync(int fd) {
    int failed = (int)syscall(SYS_fsync, fd);
    if (!failed) note('S', fd, 0, 0, 0);
    return failed;
}

int fdatasync(int fd) {
    int failed = (int)syscall(SYS_fdatasync, fd);
    if (!failed) note('S', fd, 0, 0, 0);
    return failed;
}

int unlink(const char *path) {
    int failed = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    if (!failed) put('U', path, 0, 0, 0);
    return failed;
}
