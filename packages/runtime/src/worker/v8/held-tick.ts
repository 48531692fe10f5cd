import { executionAsyncResource } from 'node:async_hooks'

/**
 * One entry of the queue of `process.nextTick`, held for the life of the thread.
 *
 * Node creates each entry as a literal with computed keys. V8 stores these fast while all entries have one hidden
 * class, which it references weakly. A full collection that finds no live entry discards the class. After that every
 * store calls V8's runtime, permanently: a read of the stats service takes 17.8 us of processor time instead of 14.7.
 */
export const heldTick: { entry?: object } = {}

process.nextTick(() => {
  heldTick.entry = executionAsyncResource()
})
