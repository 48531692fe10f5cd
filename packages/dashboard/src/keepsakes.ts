import { createHash, randomBytes } from 'node:crypto'
import { chmodSync, existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { StartError } from '@influencer-stats/runtime/errors'
import { openSharedLevel, type SharedLevel } from '@influencer-stats/runtime/shared-level'
import type { Logger } from 'pino'
import { errors } from './errors.ts'
import type { CampaignVersion, Link } from './messages.ts'

const DAY = 86_400_000
/** Every thread holds all links in memory. */
const MOST_LINKS = 10_000
const KEY = 'key'
/** Detects a key that is not the one that signed the links and sessions. */
const KEY_DIGEST = 'key-digest'
const KEY_FORM = /^[0-9a-f]{64}$/
const DEMO = 'demo'
const FORMAT = 1
const REMEDY = 'restore a backup (pnpm restore), or move the folder away, which ends all links and sessions'
const linkKey = (id: string) => `links/${id}`

const digestOf = (key: string) => createHash('sha256').update(`dashboard key\n${key}`).digest('hex')

/** The persistent data of the dashboard: the signing key and the issued links. Main thread only. */
export class Keepsakes {
  readonly #level: SharedLevel
  readonly #links: Map<string, Link>
  /** Signs sessions and links. */
  readonly key: string
  /** True once the demo campaigns were created. */
  hadDemo: boolean

  private constructor(level: SharedLevel, key: string, hadDemo: boolean, links: Map<string, Link>) {
    this.#level = level
    this.key = key
    this.hadDemo = hadDemo
    this.#links = links
  }

  /** @throws StartError `KEY_DAMAGED`, `DATA_DAMAGED`, and those of `openLevel` */
  static async open(folder: string, log: Logger): Promise<Keepsakes> {
    const isNew = !existsSync(join(folder, 'format.json'))
    const level = await openSharedLevel<string, string>(folder, { service: 'dashboard', format: FORMAT, log })
    try {
      restrictToOwner(folder, log)
      const key = await readKey(level, folder, () => {
        if (!isNew) log.warn(`dashboard: made a new key in ${folder}, which had none: earlier sessions have ended`)
      })
      const links = new Map<string, Link>()
      for await (const [key, text] of level.db.iterator({ gt: linkKey(''), lt: linkKey('\uffff') })) {
        const link = parseLink(text)
        if (!link || linkKey(link.id) !== key)
          throw new StartError(
            'DATA_DAMAGED',
            `dashboard: row ${key} of the database in ${folder} is damaged: ${REMEDY}`,
          )
        links.set(link.id, link)
      }
      return new Keepsakes(level, key, (await level.db.get(DEMO)) !== undefined, links)
    } catch (error) {
      await level.close()
      throw error
    }
  }

  /** The content of a backup: everything. */
  get kept(): SharedLevel {
    return this.#level
  }

  /** Where all threads see how the data are. */
  get memory(): SharedArrayBuffer {
    return this.#level.memory
  }

  get links(): readonly Link[] {
    return [...this.#links.values()]
  }

  /** @throws Problem `LINKS_FULL` */
  async add(campaign: CampaignVersion, days: number): Promise<Link> {
    if (this.#links.size >= MOST_LINKS) throw errors.LINKS_FULL(`at most ${MOST_LINKS}`)
    const created = Date.now()
    const id = randomBytes(9).toString('base64url')
    const link: Link = { id, ...campaign, created, expires: created + days * DAY }
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

/** Undefined if the text is no link. */
function parseLink(text: string): Link | undefined {
  try {
    const link: Partial<Link> | null = JSON.parse(text)
    const isWhole = typeof link?.campaign === 'string' && Number.isFinite(link.created) && Number.isFinite(link.expires)
    return isWhole ? (link as Link) : undefined
  } catch {
    return undefined
  }
}

/** The key forges links and sessions: no other user of the machine may read it. */
function restrictToOwner(folder: string, log: Logger): void {
  if ((statSync(folder).mode & 0o077) === 0) return
  try {
    chmodSync(folder, 0o700)
  } catch (error) {
    log.warn(error, `dashboard: other users can read the signing key in ${folder}`)
  }
}

/**
 * The key, which is made for an empty store only: another key would silently end all links and sessions.
 * @param onMade runs after a key was made
 * @throws StartError `KEY_DAMAGED` if it is missing or not the one that was made
 */
async function readKey(level: SharedLevel, folder: string, onMade: () => void): Promise<string> {
  const { db } = level
  const [key, digest] = await db.getMany([KEY, KEY_DIGEST])
  if (key === undefined && digest === undefined && (await db.keys({ limit: 1 }).all()).length === 0) {
    const made = randomBytes(32).toString('hex')
    await level.write((to) => to.batch().put(KEY, made).put(KEY_DIGEST, digestOf(made)).write({ sync: true }))
    onMade()
    return made
  }
  if (key === undefined || !KEY_FORM.test(key) || (digest !== undefined && digest !== digestOf(key))) {
    const state = key === undefined ? 'missing' : 'damaged'
    throw new StartError(
      'KEY_DAMAGED',
      `dashboard: the key in ${folder} that signs links and sessions is ${state}: ${REMEDY}`,
    )
  }
  // Versions before 0.3 stored no digest.
  if (digest === undefined) await level.write((to) => to.put(KEY_DIGEST, digestOf(key), { sync: true }))
  return key
}
