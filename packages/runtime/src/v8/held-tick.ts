import { executionAsyncResource } from 'node:async_hooks'

/**
 * One entry of `process.nextTick`'s queue, held for as long as the thread runs.
 *
 * Node makes each entry as a literal with computed keys, and V8 stores those fast while all entries have one hidden class,
 * which it knows weakly. A full collection that finds no entry alive forgets the class; every later store then calls into
 * V8's runtime, for good: a read of the stats service takes 17.8 us of processor time instead of 14.7.
 */
export const heldTick: { entry?: object } = {}

process.nextTick(() => {
  heldTick.entry = executionAsyncResource()
})
