/** The demo login that lets a visitor of a default start in, and the wheel that waits there. Refused behind a proxy. */
@NullMarked
package dev.hongbao.web.demo;

import org.jspecify.annotations.NullMarked;
