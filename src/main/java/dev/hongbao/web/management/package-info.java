/** The operator's port: liveness, readiness, metrics, and the console with its calls. One verticle, on its own loop, never on the public port. */
@NullMarked
package dev.hongbao.web.management;

import org.jspecify.annotations.NullMarked;
