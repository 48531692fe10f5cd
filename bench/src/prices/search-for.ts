import { createRaw } from '../load/raw.ts'
import { PINS } from '../processes.ts'

const CONNECTIONS = 20
const raw = createRaw()

/** Searches in a closed loop. @throws Error unless every reply is right */
export async function searchFor(seconds: number, url: string, drawer: string) {
  const plan = { url, requests: { drawer }, expect: { status: 200 }, connections: CONNECTIONS }
  const result = await raw.run({ ...plan, duration: seconds, warmUp: 0, pin: PINS.client })
  if (result.wrong + result.errors > 0) throw new Error(`${result.wrong} wrong replies, ${result.errors} missing`)
  return result
}
