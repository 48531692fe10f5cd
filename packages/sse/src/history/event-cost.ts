import type { Event, EventExtras } from '../core/event.ts'

/** What a topic takes besides its name and its events: its list, its places in tables (bytes; measured: about 340). */
export const TOPIC_COST_BYTES = 512

/** What an event takes besides the characters of its value (bytes; measured: about 110). */
export const EVENT_COST_BYTES = 128

/** What a name takes besides its characters (bytes). */
const STRING_COST_BYTES = 32

const NON_LATIN1_CHARACTER = /[^\0-\xff]/

/** A character takes one byte, or two where any of them has to. */
const getTextBytes = (text: string) => (NON_LATIN1_CHARACTER.test(text) ? 2 * text.length : text.length)

/** What an event takes in memory (bytes). */
export const getEventCost = ({ value, more }: Event): number =>
  EVENT_COST_BYTES + getTextBytes(value) + (more ? getExtrasCost(more) : 0)

function getExtrasCost({ alternates = [], type = '' }: EventExtras): number {
  return (
    EVENT_COST_BYTES +
    getTextBytes(type) +
    alternates.reduce((sum, name) => sum + STRING_COST_BYTES + getTextBytes(name), 0)
  )
}

/** What a topic takes in memory (bytes). */
export const getTopicCost = (name: string): number => TOPIC_COST_BYTES + getTextBytes(name)
