/** What only the build runs. */
@NullMarked
package dev.hongbao.build;

import org.jspecify.annotations.NullMarked;
