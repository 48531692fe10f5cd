import { crc32, deflateSync } from 'node:zlib'
import { createSeededRandom } from '../world/seeded-random.ts'

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
/** Eight bits per colour, red, green and blue, without interlacing. */
const FORMAT = [8, 2, 0, 0, 0]

function toChunk(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), content])
  const chunk = Buffer.alloc(body.length + 8)
  chunk.writeUInt32BE(content.length, 0)
  body.copy(chunk, 4)
  chunk.writeUInt32BE(crc32(body), body.length + 4)
  return chunk
}

type Colour = readonly [red: number, green: number, blue: number]

const drawColour = (random: () => number): Colour => [drawByte(random), drawByte(random), drawByte(random)]
const drawByte = (random: () => number) => 40 + Math.floor(random() * 160)

/** Returns an invented picture, a PNG of hills below a sky: the same for the same id. */
export function buildPicture(id: string, width: number, height: number): Buffer {
  const random = createSeededRandom(`${id} picture`)
  const [sky, near, far] = [drawColour(random), drawColour(random), drawColour(random)]
  const [level, wave, shift] = [height * (0.3 + 0.4 * random()), 10 + 20 * random(), 6 * random()]
  const rows = Buffer.alloc((width * 3 + 1) * height)
  let at = 0
  for (let y = 0; y < height; y++) {
    at++
    for (let x = 0; x < width; x++) {
      const hill = level + wave * Math.sin(x / 25 + shift)
      const colour = y < hill ? sky : y < hill + 20 ? far : near
      for (const part of colour) rows[at++] = part
    }
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set(FORMAT, 8)
  const chunks = [toChunk('IHDR', header), toChunk('IDAT', deflateSync(rows)), toChunk('IEND', Buffer.alloc(0))]
  return Buffer.concat([SIGNATURE, ...chunks])
}
