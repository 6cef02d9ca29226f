// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// A sensor that sends readings with a counter and an HMAC-SHA-512 tag over its serial
// port. The program in ../receiver verifies them. README.md describes both.

#include <Arduino.h>
#include <avr/eeprom.h>
#include <avr/pgmspace.h>
#include <hmac_sha512.h>
#include <string.h>

#include "key.h" // the receiver makes it: see README.md

#ifndef INTERVAL_MS
#define INTERVAL_MS 1000 // between two readings
#endif

// The EEPROM is written once for this many readings, and at every start.
#ifndef COUNTER_BLOCK
#define COUNTER_BLOCK 4096
#endif

// The counter has 32 bytes of the EEPROM from here on. The address must stay as it is when
// a new version of the sketch is uploaded.
#define COUNTER_ADDRESS 32

#define MESSAGE_SIZE 17 // version, device, counter, value: 1 + 4 + 8 + 4 bytes

static uint64_t last_counter; // of the last reading, or higher
static uint64_t reserved;     // the highest counter that may be used; it is in the EEPROM

// The EEPROM has two slots, and reserve writes the one that does not hold the highest
// number. If the power fails meanwhile, the other is still there.
static uint8_t slot_in_use = 1;
static bool counter_lost;

// A slot has a number, big-endian, and its complement. A write that the power ends leaves
// the old number, the new one, or a slot that is not whole, whatever is in the byte that
// was being written: all bytes of the one half come before those of the other.
#define SLOT_SIZE 16

static void *slot_address(uint8_t slot)
{
	return (void *)(COUNTER_ADDRESS + slot * SLOT_SIZE);
}

// put writes the low bytes of a number, big-endian.
static void put(uint8_t *to, uint64_t number, uint8_t bytes)
{
	while (bytes > 0) {
		to[--bytes] = (uint8_t)number;
		number >>= 8;
	}
}

// load_counter reads the highest number that has been reserved. All counters up to it may
// have been used.
static void load_counter()
{
	bool whole_slot = false, blank_slot = false;
	for (uint8_t slot = 0; slot < 2; slot++) {
		uint8_t b[SLOT_SIZE];
		bool whole = true, blank = true;
		uint64_t number = 0;
		eeprom_read_block(b, slot_address(slot), sizeof b);
		for (uint8_t i = 0; i < 8; i++) {
			whole = whole && (b[i] ^ b[8 + i]) == 0xff;
			blank = blank && b[i] == 0xff && b[8 + i] == 0xff;
			number = number << 8 | b[i];
		}
		if (whole && (!whole_slot || number > reserved)) {
			reserved = number;
			slot_in_use = slot;
		}
		whole_slot = whole_slot || whole;
		blank_slot = blank_slot || blank;
	}
	last_counter = reserved;
	// Only the first write leaves a blank slot and one that is not whole. If neither is
	// blank or whole, the EEPROM is damaged, and counters could repeat.
	counter_lost = !whole_slot && !blank_slot;
}

// reserve writes to the EEPROM that the next COUNTER_BLOCK counters may be used. It returns
// false if that failed.
static bool reserve()
{
	uint8_t b[SLOT_SIZE], written[SLOT_SIZE];
	put(b, reserved + COUNTER_BLOCK, 8);
	for (uint8_t i = 0; i < 8; i++)
		b[8 + i] = ~b[i];
	uint8_t slot = slot_in_use ^ 1;
	eeprom_update_block(b, slot_address(slot), sizeof b);
	eeprom_read_block(written, slot_address(slot), sizeof written);
	if (memcmp(b, written, sizeof b) != 0)
		return false; // the EEPROM is worn out
	slot_in_use = slot;
	reserved += COUNTER_BLOCK;
	return true;
}

// next_counter sets last_counter to one that has never been used, not even before a reset.
// It returns false if there is none.
static bool next_counter()
{
	if (counter_lost || (last_counter == reserved && !reserve()))
		return false;
	last_counter++;
	return true;
}

// send_frame sends bytes in the framing of SLIP, RFC 1055. The first 0xc0 ends what noise
// on the line may have begun.
static void send_frame(const uint8_t *p, uint8_t size)
{
	Serial.write((uint8_t)0xc0);
	for (; size > 0; size--, p++) {
		switch (*p) {
		case 0xc0:
			Serial.write((uint8_t)0xdb);
			Serial.write((uint8_t)0xdc);
			break;
		case 0xdb:
			Serial.write((uint8_t)0xdb);
			Serial.write((uint8_t)0xdd);
			break;
		default:
			Serial.write(*p);
		}
	}
	Serial.write((uint8_t)0xc0);
}

// The expanded key. Each tag starts with a copy of it, which takes two compressions of
// SHA-512 instead of four.
static hmac_sha512_ctx expanded;

void setup()
{
	uint8_t key[sizeof device_key];
	memcpy_P(key, device_key, sizeof key);
	hmac_sha512_init(&expanded, key, sizeof key);
	load_counter();
	Serial.begin(38400);
}

void loop()
{
	// The counter is first: without one there is nothing to send.
	if (next_counter()) {
		uint8_t frame[MESSAGE_SIZE + HMAC_SHA512_SIZE];
		frame[0] = 1; // the version of this layout
		put(frame + 1, DEVICE_ID, 4);
		put(frame + 5, last_counter, 8);
		put(frame + 13, (int64_t)analogRead(A0), 4);
		hmac_sha512_ctx ctx = expanded;
		hmac_sha512_update(&ctx, frame, MESSAGE_SIZE);
		hmac_sha512_final(&ctx, frame + MESSAGE_SIZE);
		send_frame(frame, sizeof frame);
	}
	delay(INTERVAL_MS);
}
