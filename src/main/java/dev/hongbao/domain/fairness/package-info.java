/**
 * Proof of fairness: what is committed to before a race, and the check of it afterwards. Pure: no I/O, no clock; every type is
 * safe on any thread. The bytes that are digested are a format, which other programs compute too: it never changes.
 */
@NullMarked
package dev.hongbao.domain.fairness;

import org.jspecify.annotations.NullMarked;
