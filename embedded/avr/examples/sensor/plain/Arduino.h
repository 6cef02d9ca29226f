// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// What sensor.ino uses of Arduino, for a build with nothing but avr-gcc and avr-libc. The
// Arduino programs do not compile this folder.

#ifndef PLAIN_ARDUINO_H
#define PLAIN_ARDUINO_H

#include <stdint.h>

const uint8_t A0 = 0;

struct SerialPort {
	void begin(unsigned long baud);
	void write(uint8_t c);
};
extern SerialPort Serial;

int analogRead(uint8_t pin);
void delay(unsigned long ms);

void setup();
void loop();

#endif
