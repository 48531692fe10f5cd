import type { LogEntry, LogPosition } from '@influencer-stats/log/log'
import {
  CLOSING_KIND,
  SseStateMachine,
  PUTS_KIND,
  type SseStateMachineOptions,
} from '../../src/broker/sse-state-machine.ts'
import { encodePuts } from '../../src/core/encode-puts.ts'
import type { Event } from '../../src/core/event.ts'
import type { History } from '../../src/history/history.ts'
import { createMemoryHistory } from '../../src/history/memory-history.ts'
import type { RingOptions } from '../../src/history/ring-history.ts'
import { createStreamName, openTestLog } from './cluster-nodes.ts'

/** A state machine that replaces the times of the log's entries with given ones. */
class TimedStateMachine extends SseStateMachine {
  readonly #times: readonly number[]
  #applied = 0

  constructor(options: SseStateMachineOptions, times: readonly number[]) {
    super(options)
    this.#times = times
  }

  override apply(entries: readonly LogEntry[], position: LogPosition): Promise<number[]> {
    return super.apply(
      entries.map((entry) => ({ ...entry, at: this.#times[this.#applied++]! })),
      position,
    )
  }
}

/** Opens the histories of two nodes with one log. Appends go to the first node; reads come from the second. */
export async function openLogHistory(url: string, options: RingOptions): Promise<History> {
  const stream = createStreamName()
  const times: number[] = []
  const open = async () => {
    const createHistory: SseStateMachineOptions['createHistory'] = (state) =>
      createMemoryHistory('ring', options, state)
    const stateMachine = new TimedStateMachine({ createHistory, deliver() {} }, times)
    const log = await openTestLog(url, stream, stateMachine)
    return { log, history: stateMachine.getHistory(log.epoch) }
  }
  const [here, there] = await Promise.all([open(), open()])
  const { history } = there

  async function append(events: readonly Event[], seq = 0, onAppended = () => {}): Promise<void> {
    const skipped = Math.max(0, seq - history.seq - events.length)
    times.push(...events.map(({ at }) => at), ...Array<number>(skipped).fill(Date.now()))
    const entries = events.map(({ topic, value, more }) =>
      here.log.append(PUTS_KIND, encodePuts([more ? [topic, value, more] : [topic, value]])),
    )
    for (let i = 0; i < skipped; i++) entries.push(here.log.append(CLOSING_KIND, Buffer.alloc(0)))
    const done = await Promise.all(entries)
    await there.log.waitForSequence(done.at(-1)!.seq, 30_000)
    onAppended()
  }

  return {
    get epoch() {
      return history.epoch
    },
    get seq() {
      return history.seq
    },
    append,
    readSince: (...args) => history.readSince(...args),
    getNames: (selectors) => history.getNames(selectors),
    getCurrent: (topic) => history.getCurrent(topic),
    findById: (id) => history.findById(id),
    getState: () => history.getState(),
    async close() {
      await here.log.close()
      await there.log.close()
    },
  }
}
