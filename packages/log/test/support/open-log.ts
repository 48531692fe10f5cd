import { StartError } from '@influencer-stats/runtime/errors'
import { onTestFinished } from 'vitest'
import type { StateMachine } from '../../src/log.ts'
import { openJetStreamLog, type JetStreamLog } from '../../src/jetstream/jetstream-log.ts'
import type { JetStreamLogOptions } from '../../src/jetstream/options.ts'
import { TextStateMachine } from './text-state-machine.ts'

/** Many times what servers that have just started need on a quiet machine. */
const START_TIMEOUT_MS = 30_000

let streams = 0

/** Returns a name that no other test of this process has used. */
export const createStreamName = () => `test-${process.pid}-${++streams}`

/** Captured log lines. */
export interface CapturedLines {
  readonly lines: string[]
  readonly log: JetStreamLogOptions['log']
}

export function createLogCapture(): CapturedLines {
  const lines: string[] = []
  const capture = (...values: unknown[]) =>
    void lines.push(values.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join(' '))
  return { lines, log: { info: capture, warn: capture, error: capture } as never }
}

/** Opens the log of a node, which is closed when the test ends. @throws StartError if the log is not available */
export async function openTestLog<V extends StateMachine = TextStateMachine>(
  url: string,
  stream: string,
  options: Partial<JetStreamLogOptions> & { stateMachine?: V } = {},
): Promise<{ log: JetStreamLog; stateMachine: V }> {
  const stateMachine = (options.stateMachine ?? new TextStateMachine()) as V
  const log = await openJetStreamLog({
    service: 'test',
    stream,
    nats: { servers: [url] },
    replicas: 1,
    log: createLogCapture().log,
    appendTimeout: 15_000,
    startTimeout: START_TIMEOUT_MS,
    ...options,
    stateMachine,
  })
  onTestFinished(() => log.close())
  const { availability } = log
  if (availability.code !== 'READY') throw new StartError(availability.code, `test: ${availability.detail}`)
  return { log, stateMachine }
}
