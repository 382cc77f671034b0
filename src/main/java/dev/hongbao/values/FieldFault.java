package dev.hongbao.values;

/**
 * One fault of an input, and its place.
 *
 * @param pointer a JSON pointer into the body as a URI fragment ({@code #/amount}), or {@code path/…}, {@code query/…},
 *     {@code header/…}
 * @param detail what is allowed; never repeats a secret
 */
public record FieldFault(String pointer, Text detail) {}
