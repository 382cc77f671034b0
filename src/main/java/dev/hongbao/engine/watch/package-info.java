/** What operators see of the shards, whoever owns them: asked now and then of both stores, and never on a claim's way. */
@NullMarked
package dev.hongbao.engine.watch;

import org.jspecify.annotations.NullMarked;
