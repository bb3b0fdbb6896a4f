"""As much of Arduino as the sketches ask for, on the host: pins read what the tests say."""

ARDUINO = """
#ifndef Arduino_h
#define Arduino_h
#include <math.h>
#include <stdint.h>
#include <stdio.h>
enum { A0 = 14, A1, A2, A3, A4, A5 };
enum { LOW, HIGH, INPUT, INPUT_PULLUP };
struct Port {
  void begin(long) {}
  void print(const char *text) { fputs(text, stdout); }
  void print(char sign) { putchar(sign); }
  void print(int number) { printf("%d", number); }
  void print(long number) { printf("%ld", number); }
  void print(double number) { printf("%.4f", number); }
  template <typename T> void println(T what) { print(what); putchar('\\n'); }
};
static Port Serial;
static uint32_t clock_of_board = 4294900000u; /* it wraps around soon */
static inline int analogRead(int pin) { return (pin * 37 + (int)(clock_of_board / 997u)) % 1024; }
static inline int digitalRead(int pin) { return pin % 2 == 0 ? LOW : HIGH; }
static inline void pinMode(int, int) {}
static inline void delay(uint32_t time) { clock_of_board += 1000u * time; }
static inline uint32_t micros() { return clock_of_board += 10u; }
#endif
"""
