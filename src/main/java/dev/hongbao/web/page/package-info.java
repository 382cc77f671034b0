/** Files for browsers: the chat page and the console. Immutable; the faces decide who is served. */
@NullMarked
package dev.hongbao.web.page;

import org.jspecify.annotations.NullMarked;
