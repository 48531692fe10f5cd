import type { LogEntry, LogPosition } from '@influencer-stats/log/log'
import { CLOSING, LogView, PUTS, type LogViewOptions } from '../../src/broker/log-view.ts'
import { encodePuts } from '../../src/core/puts.ts'
import type { Event } from '../../src/core/event.ts'
import type { History } from '../../src/history/history.ts'
import { createHistoryInMemory } from '../../src/history/in-memory.ts'
import type { RingOptions } from '../../src/history/ring.ts'
import { newStream, openTestLog } from './nodes.ts'

/** A view to which the log's clock says what it is told to. */
class TimedView extends LogView {
  readonly #times: readonly number[]
  #applied = 0

  constructor(options: LogViewOptions, times: readonly number[]) {
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

/** A history as nodes have it: what is appended goes into a log, and what is looked at another node has made of it. */
export async function openLogHistory(url: string, options: RingOptions): Promise<History> {
  const stream = newStream()
  const times: number[] = []
  const open = async () => {
    const create: LogViewOptions['create'] = (kept) => createHistoryInMemory('ring', options, kept)
    const view = new TimedView({ create, deliver() {} }, times)
    const log = await openTestLog(url, stream, view)
    return { log, history: view.historyOf(log.epoch) }
  }
  const [here, there] = await Promise.all([open(), open()])
  const { history } = there

  async function append(events: readonly Event[], seq = 0, onKept = () => {}): Promise<void> {
    const skipped = Math.max(0, seq - history.seq - events.length)
    times.push(...events.map(({ at }) => at), ...Array<number>(skipped).fill(Date.now()))
    const entries = events.map(({ topic, value, more }) =>
      here.log.append(PUTS, encodePuts([more ? [topic, value, more] : [topic, value]])),
    )
    for (let i = 0; i < skipped; i++) entries.push(here.log.append(CLOSING, Buffer.alloc(0)))
    const done = await Promise.all(entries)
    await there.log.waitForSequence(done.at(-1)!.seq, 30_000)
    onKept()
  }

  return {
    get epoch() {
      return history.epoch
    },
    get seq() {
      return history.seq
    },
    append,
    since: (...asked) => history.since(...asked),
    names: (selectors) => history.names(selectors),
    current: (topic) => history.current(topic),
    kept: () => history.kept(),
    async close() {
      await here.log.close()
      await there.log.close()
    },
  }
}
