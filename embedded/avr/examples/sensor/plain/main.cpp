// Copyright 2026 The fastmac Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

#include "Arduino.h"

#include <avr/io.h>
#include <util/delay.h>

SerialPort Serial;

// begin sets the port to 8 bits, no parity and one stop bit, which an MCU starts with.
void SerialPort::begin(unsigned long baud)
{
	uint16_t divisor = (F_CPU / 8 + baud / 2) / baud - 1;
	UBRR0H = divisor >> 8;
	UBRR0L = (uint8_t)divisor;
	UCSR0A = _BV(U2X0);
	UCSR0B = _BV(TXEN0);
}

void SerialPort::write(uint8_t c)
{
	loop_until_bit_is_set(UCSR0A, UDRE0);
	UDR0 = c;
}

int analogRead(uint8_t pin)
{
	ADMUX = _BV(REFS0) | pin;                                        // of AVCC
	ADCSRA = _BV(ADEN) | _BV(ADSC) | _BV(ADPS2) | _BV(ADPS1) | _BV(ADPS0); // F_CPU / 128
	loop_until_bit_is_clear(ADCSRA, ADSC);
	return ADC;
}

void delay(unsigned long ms)
{
	for (; ms > 0; ms--)
		_delay_ms(1);
}

int main()
{
	setup();
	for (;;)
		loop();
}
