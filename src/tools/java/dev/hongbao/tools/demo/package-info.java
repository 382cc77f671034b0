/** The demo: a group races for packets over HTTP. {@link dev.hongbao.tools.demo.Demo} is the whole scenario. */
@NullMarked
package dev.hongbao.tools.demo;

import org.jspecify.annotations.NullMarked;
