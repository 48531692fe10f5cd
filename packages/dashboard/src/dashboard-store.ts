import { createHash, randomBytes } from 'node:crypto'
import { chmodSync, existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { StartError } from '@influencer-stats/runtime/errors'
import { openSharedLevel, type SharedLevel } from '@influencer-stats/runtime/shared-level'
import type { Logger } from 'pino'
import { errors } from './errors.ts'
import type { CampaignVersion, ShareLink } from './messages.ts'
import { SavedViews } from './saved-views.ts'
import { readRows, REMEDY } from './stored-rows.ts'

const DAY_MS = 86_400_000
/** Maximum number of links: every thread holds all of them in memory. */
const MAX_LINKS = 10_000
const SIGNING_KEY_ROW = 'key'
/** The digest detects a key that did not sign the links and sessions. */
const KEY_DIGEST_ROW = 'key-digest'
const KEY_PATTERN = /^[0-9a-f]{64}$/
const DEMO_ROW = 'demo'
const FORMAT_VERSION = 1
const LINK_PREFIX = 'links/'
const toLinkKey = (id: string) => LINK_PREFIX + id

const hashKey = (key: string) => createHash('sha256').update(`dashboard key\n${key}`).digest('hex')

/** The persistent data of the dashboard: the signing key, the issued links and the saved views. Main thread only. */
export class DashboardStore {
  /** The database. A backup contains all of it. */
  readonly level: SharedLevel
  readonly #links: Map<string, ShareLink>
  readonly views: SavedViews
  /** Signs sessions and links. */
  readonly key: string
  /** True after the demo campaigns were created. */
  hadDemo: boolean

  private constructor(
    level: SharedLevel,
    key: string,
    hadDemo: boolean,
    links: Map<string, ShareLink>,
    views: SavedViews,
  ) {
    this.level = level
    this.key = key
    this.hadDemo = hadDemo
    this.#links = links
    this.views = views
  }

  /** Opens the store in a folder. @throws StartError `KEY_DAMAGED`, `DATA_DAMAGED`, and those of `openSharedLevel` */
  static async open(folder: string, log: Logger): Promise<DashboardStore> {
    const isNew = !existsSync(join(folder, 'format.json'))
    const level = await openSharedLevel<string, string>(folder, { service: 'dashboard', format: FORMAT_VERSION, log })
    try {
      restrictToOwner(folder, log)
      const key = await readKey(level, folder, () => {
        if (!isNew) log.warn(`dashboard: created a new key in ${folder}, which had none: earlier sessions are invalid`)
      })
      const links = await readRows(level, folder, LINK_PREFIX, parseLink)
      const views = await SavedViews.open(level, folder)
      return new DashboardStore(level, key, (await level.db.get(DEMO_ROW)) !== undefined, links, views)
    } catch (error) {
      await level.close()
      throw error
    }
  }

  get links(): readonly ShareLink[] {
    return [...this.#links.values()]
  }

  /** @throws Problem `TOO_MANY_LINKS`, `DISK_FULL`, `STORE_FAILED` */
  async addLink(campaign: CampaignVersion, days: number): Promise<ShareLink> {
    if (this.#links.size >= MAX_LINKS) throw errors.TOO_MANY_LINKS(`maximum of ${MAX_LINKS} links`)
    const created = Date.now()
    const id = randomBytes(9).toString('base64url')
    const link: ShareLink = { id, ...campaign, created, expires: created + days * DAY_MS }
    await this.level.write((db) => db.put(toLinkKey(link.id), JSON.stringify(link), { sync: true }))
    this.#links.set(link.id, link)
    return link
  }

  /** @returns true if the link existed */
  async removeLink(id: string): Promise<boolean> {
    if (!this.#links.has(id)) return false
    await this.level.write((db) => db.del(toLinkKey(id), { sync: true }))
    return this.#links.delete(id)
  }

  /** Deletes expired links. @returns their ids */
  async sweep(now: number): Promise<readonly string[]> {
    const expired = this.links.filter(({ expires }) => expires <= now).map(({ id }) => id)
    for (const id of expired) await this.removeLink(id)
    return expired
  }

  async recordDemo(): Promise<void> {
    await this.level.write((db) => db.put(DEMO_ROW, 'made', { sync: true }))
    this.hadDemo = true
  }

  close(): Promise<void> {
    return this.level.close()
  }
}

/** Parses a stored link. Undefined if the text is not a link. */
function parseLink(text: string): ShareLink | undefined {
  try {
    const link: Partial<ShareLink> | null = JSON.parse(text)
    const isComplete =
      typeof link?.campaign === 'string' && Number.isFinite(link.created) && Number.isFinite(link.expires)
    return isComplete ? (link as ShareLink) : undefined
  } catch {
    return undefined
  }
}

/** Anyone with the key can forge links and sessions, so no other user of the machine may read it. */
function restrictToOwner(folder: string, log: Logger): void {
  if ((statSync(folder).mode & 0o077) === 0) return
  try {
    chmodSync(folder, 0o700)
  } catch (error) {
    log.warn(error, `dashboard: other users can read the signing key in ${folder}`)
  }
}

/**
 * The signing key. It is created only in an empty store: another key would silently end all links and sessions.
 * @param onCreated runs after a key was created
 * @throws StartError `KEY_DAMAGED` if the key is missing or differs from the created one
 */
async function readKey(level: SharedLevel, folder: string, onCreated: () => void): Promise<string> {
  const { db } = level
  const [key, digest] = await db.getMany([SIGNING_KEY_ROW, KEY_DIGEST_ROW])
  if (key === undefined && digest === undefined && (await db.keys({ limit: 1 }).all()).length === 0) {
    const newKey = randomBytes(32).toString('hex')
    await level.write((batch) =>
      batch.batch().put(SIGNING_KEY_ROW, newKey).put(KEY_DIGEST_ROW, hashKey(newKey)).write({ sync: true }),
    )
    onCreated()
    return newKey
  }
  if (key === undefined || !KEY_PATTERN.test(key) || (digest !== undefined && digest !== hashKey(key))) {
    const state = key === undefined ? 'missing' : 'damaged'
    throw new StartError(
      'KEY_DAMAGED',
      `dashboard: the key in ${folder} that signs links and sessions is ${state}: ${REMEDY}`,
    )
  }
  // Versions up to 0.2.0 stored no digest.
  if (digest === undefined) await level.write((batch) => batch.put(KEY_DIGEST_ROW, hashKey(key), { sync: true }))
  return key
}
