/** The demo: a group of members that race for packets over real HTTP, and the proof that every cent is where it belongs. Runs on a server of its own. */
@NullMarked
package dev.hongbao.tools.demo;

import org.jspecify.annotations.NullMarked;
