import type { Event, Extras } from '../core/event.ts'

/** What a topic takes besides its name and its events: its list, its places in tables (bytes; measured: about 340). */
export const TOPIC_COST = 512

/** What an event takes besides the characters of its value (bytes; measured: about 110). */
export const EVENT_COST = 128

/** What a name takes besides its characters (bytes). */
const STRING_COST = 32

const NOT_LATIN1 = /[^\0-\xff]/

/** A character takes one byte, or two where any of them has to. */
const sizeOf = (text: string) => (NOT_LATIN1.test(text) ? 2 * text.length : text.length)

/** What an event takes in memory (bytes). */
export const costOf = ({ value, more }: Event): number => EVENT_COST + sizeOf(value) + (more ? extraCostOf(more) : 0)

function extraCostOf({ alternates = [], type = '' }: Extras): number {
  return EVENT_COST + sizeOf(type) + alternates.reduce((sum, name) => sum + STRING_COST + sizeOf(name), 0)
}

/** What a topic takes in memory (bytes). */
export const topicCostOf = (name: string): number => TOPIC_COST + sizeOf(name)
