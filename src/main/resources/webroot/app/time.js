/**
 * The time by which packets open and end: the server's, once it is known.
 * @module
 */
let clock = Date.now;

/** From now on {@link now} asks this clock. @param {() => number} asked milliseconds since 1970 */
export function askClock(asked) {
  clock = asked;
}

/** Milliseconds since 1970. */
export function now() {
  return clock();
}
