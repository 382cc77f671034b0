/** The demo login and wheel of a default start. Refused behind a proxy. */
@NullMarked
package dev.hongbao.web.demo;

import org.jspecify.annotations.NullMarked;
