/** What browsers see: the files of the chat page and of the console. Immutable; the faces decide who is served. */
@NullMarked
package dev.hongbao.web.page;

import org.jspecify.annotations.NullMarked;
