/** The operator's port: liveness, readiness and metrics. One verticle, on its own loop, never on the public port. */
@NullMarked
package dev.hongbao.web.management;

import org.jspecify.annotations.NullMarked;
