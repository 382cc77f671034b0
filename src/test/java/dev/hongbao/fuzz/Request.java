package dev.hongbao.fuzz;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** A request as text, with whatever is put into it. For one thread. */
final class Request {
    private final StringBuilder head;
    private final boolean isHead;
    private byte[] body = new byte[0];

    private Request(String method, String target, String host) {
        this.head = new StringBuilder(method)
                .append(' ')
                .append(target)
                .append(" HTTP/1.1\r\nHost: ")
                .append(host)
                .append("\r\n");
        this.isHead = method.equals("HEAD");
    }

    static Request of(String method, String target) {
        return of(method, target, "h");
    }

    static Request of(String method, String target, String host) {
        return new Request(method, target, host);
    }

    Request with(String name, String value) {
        head.append(name).append(": ").append(value).append("\r\n");
        return this;
    }

    Request body(String text) {
        return body(text.getBytes(StandardCharsets.UTF_8));
    }

    Request body(byte[] bytes) {
        body = bytes;
        return this;
    }

    /** Whether its answer has no body. */
    boolean isHead() {
        return isHead;
    }

    byte[] bytes() {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.writeBytes((head + "Content-Length: " + body.length + "\r\n\r\n").getBytes(StandardCharsets.UTF_8));
        all.writeBytes(body);
        return all.toByteArray();
    }

    @Override
    public String toString() {
        return new String(bytes(), StandardCharsets.UTF_8);
    }
}
