/** Programs that only the build runs. */
@NullMarked
package dev.hongbao.tools.build;

import org.jspecify.annotations.NullMarked;
