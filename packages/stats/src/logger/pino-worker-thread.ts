import { shareSinkWords } from '@influencer-stats/runtime/line-sink'
import { Writable } from 'node:stream'
import { createJsonSink } from './json-log.ts'

/** Creates the stream through which pino's thread writes lines. */
export default function createWriter({ to, sinkWords }: { to: number; sinkWords: Int32Array }): Writable {
  shareSinkWords(sinkWords)
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
