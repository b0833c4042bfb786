@ Runs every case of the image from its record, and writes all records out by semihosting. A record
@ is r0 to r12, APSR, the case's address, FPSCR, s0 to s31: 192 bytes, replaced by what came out.
.syntax unified
.thumb
.cpu cortex-m7
.fpu fpv5-d16
vectors:
 .word 0x003F0000
 .word start+1
 .rept 14
 .word bad+1
 .endr
.thumb_func
start:
 ldr r0, =0xE000ED88
 ldr r1, =0x00F00000
 str r1, [r0]
 dsb
 isb
 ldr r0, =0x100000   @ records
 mov sp, r0
next:
 add r0, sp, #64
 vldmia r0, {s0-s31}
 ldr r0, [sp, #60]
 vmsr fpscr, r0
 ldr r0, [sp, #52]
 msr apsr_nzcvqg, r0
 ldr lr, [sp, #56]
 ldm sp, {r0-r12}
 blx lr
 stm sp, {r0-r12}
 mrs r0, apsr
 str r0, [sp, #52]
 vmrs r0, fpscr
 str r0, [sp, #60]
 add r0, sp, #64
 vstmia r0, {s0-s31}
 add sp, sp, #192
 mov r1, sp
 ldr r0, count
 ldr r0, [r0]
 cmp r1, r0
 bne next
 ldr sp, =0x003F0000
 ldr r1, =open
 movs r0, #1
 bkpt 0xab
 ldr r1, =write
 str r0, [r1]
 movs r0, #5
 bkpt 0xab
bad:
 ldr r1, =0x20026
 movs r0, #0x18
 bkpt 0xab
 b .
 .align 2
count: .word 0x1fc
 .align 2
open: .word name, 4, 3
name: .asciz ":tt"
 .align 2
write: .word 0, 0x100000, 0x2F0000
 .pool
