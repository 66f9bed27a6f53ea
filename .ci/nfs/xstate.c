/* Lets User-Mode Linux 6.1 run on processors whose extended state is larger than it
 * knows (AMX): it reads and writes the registers of its processes in a buffer of its
 * own size, and the host kernel takes only whole states. Preloaded into linux.uml, this
 * ptrace reads and writes whole ones; what does not fit into the caller's buffer is
 * state that the guests never use, and stays zero.
 *
 *	cc -shared -fPIC -O2 -o xstate.so xstate.c
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { getregset = 0x4204, setregset = 0x4205, xstate = 0x202 };

static long call(long request, long pid, void *addr, void *data)
{
	long peeked, r;

	if (request >= 1 && request <= 3) { /* PEEK*: the answer is the word itself */
		r = syscall(SYS_ptrace, request, pid, addr, &peeked);
		return r < 0 ? r : peeked;
	}
	return syscall(SYS_ptrace, request, pid, addr, data);
}

long ptrace(int request, ...)
{
	static __thread char whole[64 << 10];
	static __thread size_t size;
	struct iovec *theirs, ours = {whole, sizeof whole};
	va_list ap;
	long pid, r;
	void *addr, *data;

	va_start(ap, request);
	pid = va_arg(ap, long);
	addr = va_arg(ap, void *);
	data = va_arg(ap, void *);
	va_end(ap);
	pid = (int)pid; /* the upper half of a variadic int is not defined */
	if ((request != getregset && request != setregset) || (long)addr != xstate)
		return call(request, pid, addr, data);
	theirs = data;
	if (request == getregset || size == 0) {
		r = call(getregset, pid, addr, &ours);
		if (r < 0)
			return r;
		size = ours.iov_len;
	}
	if (request == getregset) {
		if (theirs->iov_len > size)
			theirs->iov_len = size;
		memcpy(theirs->iov_base, whole, theirs->iov_len);
		return 0;
	}
	memset(whole, 0, size);
	memcpy(whole, theirs->iov_base, theirs->iov_len < size ? theirs->iov_len : size);
	ours.iov_len = size;
	return call(setregset, pid, addr, &ours);
}
