import { randomBytes } from 'node:crypto'
import { openSharedLevel, type SharedLevel } from '@influencer-stats/runtime/shared-level'
import type { Logger } from 'pino'
import { errors } from './errors.ts'
import type { Link } from './messages.ts'

const DAY = 86_400_000
/** All threads know all of them. */
const MOST_LINKS = 10_000
const KEY = 'key'
const DEMO = 'demo'
const FORMAT = 1
const linkKey = (id: string) => `links/${id}`

/** What the dashboard keeps: the key that it signs with, and the links that are out. On main. */
export class Keepsakes {
  readonly #level: SharedLevel
  readonly #links: Map<string, Link>
  /** Signs sessions and links. */
  readonly key: string
  /** Whether the demo has been made once. */
  hadDemo: boolean

  private constructor(level: SharedLevel, key: string, hadDemo: boolean, links: Map<string, Link>) {
    this.#level = level
    this.key = key
    this.hadDemo = hadDemo
    this.#links = links
  }

  static async open(folder: string, log: Logger): Promise<Keepsakes> {
    const level = await openSharedLevel<string, string>(folder, { service: 'dashboard', format: FORMAT, log })
    let key = await level.db.get(KEY)
    if (key === undefined) {
      const made = (key = randomBytes(32).toString('hex'))
      await level.write((db) => db.put(KEY, made, { sync: true }))
    }
    const links = new Map<string, Link>()
    for await (const text of level.db.values({ gt: linkKey(''), lt: linkKey('\uffff') })) {
      const link: Link = JSON.parse(text)
      links.set(link.id, link)
    }
    return new Keepsakes(level, key, (await level.db.get(DEMO)) !== undefined, links)
  }

  /** Where all threads see how the data are. */
  get memory(): SharedArrayBuffer {
    return this.#level.memory
  }

  get links(): readonly Link[] {
    return [...this.#links.values()]
  }

  /** @throws Problem `LINKS_FULL` */
  async add(campaign: string, days: number): Promise<Link> {
    if (this.#links.size >= MOST_LINKS) throw errors.LINKS_FULL(`at most ${MOST_LINKS}`)
    const created = Date.now()
    const link: Link = { id: randomBytes(9).toString('base64url'), campaign, created, expires: created + days * DAY }
    await this.#level.write((db) => db.put(linkKey(link.id), JSON.stringify(link), { sync: true }))
    this.#links.set(link.id, link)
    return link
  }

  /** @returns whether there was one */
  async revoke(id: string): Promise<boolean> {
    if (!this.#links.has(id)) return false
    await this.#level.write((db) => db.del(linkKey(id), { sync: true }))
    return this.#links.delete(id)
  }

  /** Forgets links that have expired; gives their ids. */
  async sweep(now: number): Promise<readonly string[]> {
    const gone = this.links.filter(({ expires }) => expires <= now).map(({ id }) => id)
    for (const id of gone) await this.revoke(id)
    return gone
  }

  async rememberDemo(): Promise<void> {
    await this.#level.write((db) => db.put(DEMO, 'made', { sync: true }))
    this.hadDemo = true
  }

  close(): Promise<void> {
    return this.#level.close()
  }
}
