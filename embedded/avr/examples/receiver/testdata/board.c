// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// board MCU HZ CYCLES EEPROM ELF [WORN] simulates a board for CYCLES cycles, or less if the
// reader of its standard output is gone. Its first serial port sends to standard output.
// The EEPROM is read from a file and written back at the end, as if the power failed
// then. The n-th conversion of the ADC finds n times 5 mV of 5 V.

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <simavr/avr_adc.h>
#include <simavr/avr_eeprom.h>
#include <simavr/avr_uart.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_elf.h>

static void fail(const char *what)
{
	fprintf(stderr, "board: %s\n", what);
	exit(1);
}

// Standard output is for the serial port, so simavr's messages must not go there.
static void log_message(avr_t *avr, const int level, const char *format, va_list args)
{
	(void)avr;
	if (level <= LOG_WARNING)
		vfprintf(stderr, format, args);
}

static void sent(struct avr_irq_t *irq, uint32_t value, void *param)
{
	(void)irq;
	(void)param;
	putchar((int)value);
	fflush(stdout);
}

static void convert(struct avr_irq_t *irq, uint32_t value, void *param)
{
	static uint32_t millivolts;
	avr_t *avr = param;
	(void)irq;
	(void)value;
	millivolts += 5;
	avr_raise_irq(avr_io_getirq(avr, AVR_IOCTL_ADC_GETIRQ, ADC_IRQ_ADC0), millivolts);
}

// The board does not wait in real time.
static void no_sleep(avr_t *avr, avr_cycle_count_t cycles)
{
	(void)avr;
	(void)cycles;
}

// The EEPROM has an ioctl, which simavr 1.6 answers for the flash memory instead.
static avr_eeprom_t *find_eeprom(avr_t *avr)
{
	for (avr_io_t *io = avr->io_port; io; io = io->next)
		if (!strcmp(io->kind, "eeprom"))
			return (avr_eeprom_t *)io;
	fail("no EEPROM");
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc < 6 || argc > 7)
		fail("want MCU HZ CYCLES EEPROM ELF [WORN]");
	avr_global_logger_set(log_message);
	elf_firmware_t firmware;
	memset(&firmware, 0, sizeof firmware);
	if (elf_read_firmware(argv[5], &firmware))
		fail("cannot read the ELF file");
	avr_t *avr = avr_make_mcu_by_name(argv[1]);
	if (!avr)
		fail("no such MCU");
	if (avr_init(avr))
		fail("cannot start the MCU");
	firmware.frequency = strtoul(argv[2], NULL, 10);
	avr_load_firmware(avr, &firmware);
	avr->vcc = avr->avcc = avr->aref = 5000;
	avr->sleep = no_sleep;

	avr_eeprom_t *eeprom = find_eeprom(avr);
	FILE *f = fopen(argv[4], "rb");
	if (!f || fread(eeprom->eeprom, 1, eeprom->size, f) != eeprom->size)
		fail("cannot read the EEPROM's file, or it is too short");
	fclose(f);

	// Without these flags it does not print what is sent, nor sleep when the program polls.
	uint32_t flags = 0;
	avr_ioctl(avr, AVR_IOCTL_UART_SET_FLAGS('0'), &flags);
	avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_UART_GETIRQ('0'), UART_IRQ_OUTPUT), sent, NULL);
	avr_irq_register_notify(avr_io_getirq(avr, AVR_IOCTL_ADC_GETIRQ, ADC_IRQ_OUT_TRIGGER), convert, avr);

	avr_cycle_count_t end = strtoull(argv[3], NULL, 10);
	signal(SIGPIPE, SIG_IGN);
	int state = cpu_Running;
	uint8_t *worn = NULL;
	if (argc == 7) {
		worn = eeprom->eeprom + strtoul(argv[6], NULL, 10);
		avr->run_cycle_limit = 1; // one instruction at a time
	}
	while (avr->cycle < end && !ferror(stdout) && state != cpu_Done && state != cpu_Crashed) {
		if (worn)
			*worn = 0x55;
		state = avr_run(avr);
	}

	f = fopen(argv[4], "wb");
	if (!f || fwrite(eeprom->eeprom, 1, eeprom->size, f) != eeprom->size || fclose(f))
		fail("cannot write the EEPROM's file");
	if (state == cpu_Crashed)
		fail("the MCU crashed");
	return 0;
}
