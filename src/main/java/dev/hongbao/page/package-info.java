/**
 * What browsers see: the files of the chat page and of the operator's page, and the demo login that lets a visitor of a
 * default start in. Immutable or safe on any thread; the faces decide who is served.
 */
@NullMarked
package dev.hongbao.page;

import org.jspecify.annotations.NullMarked;
