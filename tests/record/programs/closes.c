/* Closes every descriptor in every way there is, and sees none but its own. */
#define _GNU_SOURCE
#include "burn.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int main(void)
{
    burn(100);
    for (int fd = 3; fd < 5000; fd++)
        close(fd);
    burn(100);
    close_range(3, ~0U, 0);
    closefrom(3);
    if (open("/dev/null", O_RDONLY) != 3) { /* the lowest numbers are the program's */
        fprintf(stderr, "descriptor 3 is not free\n");
        return 1;
    }
    for (int fd = 700; fd < 800; fd++) /* and those it asks for by number, whoever has them */
        if (dup2(0, fd) != fd)
            return 1;
    for (int fd = 4000; fd < 4010; fd++)
        if (dup2(0, fd) != fd && errno != EBADF)
            return 1;
    burn(100);
    say_burned(300);
    return 0;
}
