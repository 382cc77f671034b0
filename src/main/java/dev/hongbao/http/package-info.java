/**
 * The plumbing of HTTP: the contract's calls, decoded, answered as JSON or problem documents, and the files for browsers.
 *
 * <p>{@code HttpVerticle} listens, one instance per event loop. {@code HttpFace} checks each request against the {@code Contract}: path,
 * method, token, limit, key, parameters, body. A subject's {@code Route} gets a {@code Call} and gives a {@code Reply}. {@code Exchange}
 * sends exactly one answer, after the audit log's row if one is due.
 *
 * <p>Public is what routes and bodies take ({@code Call}, {@code Reply}, {@code Problem}, {@code Schema}), and what the server makes once
 * and all loops share. Subjects call it from their {@code *Routes} and {@code *Bodies} only; it knows no subject. {@code HttpFace.Gate}
 * decides who is admitted; {@code access} implements it.
 *
 * <p>Every wait and every buffer has a limit. Contract, problems, limits and counters are shared and thread-safe; connections are
 * confined to their event loop.
 *
 * <p>Begin with {@code HttpFace}, then {@code Contract}, {@code Exchange} and {@code ProblemType}.
 */
@NullMarked
package dev.hongbao.http;

import org.jspecify.annotations.NullMarked;
