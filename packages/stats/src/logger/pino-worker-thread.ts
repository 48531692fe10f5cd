import { countLostIn } from '@influencer-stats/runtime/sink'
import { Writable } from 'node:stream'
import { createJsonSink } from './json-log.ts'

/** What pino's thread writes lines with. */
export default function createWriter({ to, lostLines }: { to: number; lostLines: Int32Array }): Writable {
  countLostIn(lostLines)
  const out = createJsonSink(to)
  return new Writable({
    decodeStrings: false,
    write(lines, _encoding, done) {
      out.write(String(lines))
      done()
    },
    final(done) {
      out.close()
      done()
    },
  })
}
