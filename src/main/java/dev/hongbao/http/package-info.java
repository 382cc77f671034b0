/** The HTTP face: the contract's routes, decoded to commands and answered as JSON or problem+json. */
@NullMarked
package dev.hongbao.http;

import org.jspecify.annotations.NullMarked;
