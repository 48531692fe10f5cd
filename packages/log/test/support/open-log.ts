import { onTestFinished } from 'vitest'
import type { Log, View } from '../../src/log.ts'
import { openJetStreamLog } from '../../src/jetstream/jetstream.ts'
import type { JetStreamLogOptions } from '../../src/jetstream/options.ts'
import { TextView } from './text-view.ts'

let streams = 0

/** A name that no other test of this process has used. */
export const newStream = () => `test-${process.pid}-${++streams}`

/** Lines that were logged. */
export interface Lines {
  readonly lines: string[]
  readonly log: JetStreamLogOptions['log']
}

export function createLines(): Lines {
  const lines: string[] = []
  const take = (...given: unknown[]) =>
    void lines.push(given.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join(' '))
  return { lines, log: { info: take, warn: take, error: take } as never }
}

/** A node; it is closed when the test ends. */
export async function openNode<V extends View = TextView>(
  url: string,
  stream: string,
  options: Partial<JetStreamLogOptions> & { view?: V } = {},
): Promise<{ log: Log; view: V }> {
  const view = (options.view ?? new TextView()) as V
  const log = await openJetStreamLog({
    service: 'test',
    stream,
    nats: { servers: [url] },
    replicas: 1,
    log: createLines().log,
    appendTimeout: 15_000,
    ...options,
    view,
  })
  onTestFinished(() => log.close())
  return { log, view }
}
