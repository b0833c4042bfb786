// A plain loop over libkcapi: encrypts messages with AES-CBC through AF_ALG, one after the other, each with its IV,
// as in the library's documentation. The peer of bench/af_alg.py.
//
// usage: libkcapi_loop DRIVER BYTES OPERATIONS BATCHES sendmsg|vmsplice
//
// Prints nanoseconds per operation, one line per batch. A batch of the same length runs before, without output.

#include <kcapi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 65536, PAGE = 4096 };

// Input at the start of a page, output 2 KiB after one, the same layout as in cpb's runner.
static uint8_t input[MOST] __attribute__((aligned(PAGE)));
static uint8_t output_pages[MOST + PAGE] __attribute__((aligned(PAGE)));

// NIST SP 800-38A, F.2.1: the first block.
static const uint8_t KEY[16] = {0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6,
                                0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c};
static const uint8_t IV[16] = {0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07,
                               0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f};
static const uint8_t PLAIN[16] = {0x6b, 0xc1, 0xbe, 0xe2, 0x2e, 0x40, 0x9f, 0x96,
                                  0xe9, 0x3d, 0x7e, 0x11, 0x73, 0x93, 0x17, 0x2a};
static const uint8_t CIPHER[16] = {0x76, 0x49, 0xab, 0xac, 0x81, 0x19, 0xb2, 0x46,
                                   0xce, 0xe9, 0x8e, 0x9b, 0x12, 0xe9, 0x19, 0x7d};

static void fail(const char *what, long code) {
  fprintf(stderr, "libkcapi_loop: %s: %ld\n", what, code);
  exit(1);
}

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC_RAW, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void batch(struct kcapi_handle *handle, uint8_t *output, size_t bytes, long operations,
                  int access) {
  for (long i = 0; i < operations; i++) {
    ssize_t written = kcapi_cipher_encrypt(handle, input, bytes, IV, output, bytes, access);
    if (written != (ssize_t)bytes) fail("kcapi_cipher_encrypt", (long)written);
  }
}

int main(int count, char **words) {
  if (count != 6) fail("DRIVER BYTES OPERATIONS BATCHES sendmsg|vmsplice", count);
  size_t bytes = strtoul(words[2], NULL, 10);
  long operations = strtol(words[3], NULL, 10), batches = strtol(words[4], NULL, 10);
  int access = strcmp(words[5], "sendmsg") == 0 ? KCAPI_ACCESS_SENDMSG : KCAPI_ACCESS_VMSPLICE;
  if (bytes < sizeof PLAIN || bytes > MOST || operations < 1) fail("numbers", 0);
  uint8_t *output = output_pages + PAGE / 2;

  struct kcapi_handle *handle = NULL;
  int status = kcapi_cipher_init(&handle, words[1], 0);
  if (status != 0) fail("kcapi_cipher_init", status);
  status = kcapi_cipher_setkey(handle, KEY, sizeof KEY);
  if (status != 0) fail("kcapi_cipher_setkey", status);
  memcpy(input, PLAIN, sizeof PLAIN);

  batch(handle, output, bytes, operations, access);
  if (memcmp(output, CIPHER, sizeof CIPHER) != 0) fail("wrong answer", 0);
  for (long i = 0; i < batches; i++) {
    uint64_t start = now();
    batch(handle, output, bytes, operations, access);
    uint64_t end = now();
    printf("%.3f\n", (double)(end - start) / (double)operations);
  }
  if (memcmp(output, CIPHER, sizeof CIPHER) != 0) fail("wrong answer", 1);
  kcapi_cipher_destroy(handle);
  return 0;
}
