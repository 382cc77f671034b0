/** What the tests share: the servers they run on, and waiting without sleeping. */
package dev.hongbao.testing;
