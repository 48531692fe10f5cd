import type { Event, EventExtras } from '../core/event.ts'

/** Memory of a topic without its name and events: its list and its table entries (bytes; measured: about 340). */
export const TOPIC_COST_BYTES = 512

/** Memory of an event without the characters of its value (bytes; measured: about 110). */
export const EVENT_COST_BYTES = 128

/** Memory of a name without its characters (bytes). */
const STRING_COST_BYTES = 32

/** Memory of a publisher's id without its characters: its string and its table entry (bytes). */
const ID_COST_BYTES = 96

const NON_LATIN1_CHARACTER = /[^\0-\xff]/

/** A text takes one byte per character, or two if any of its characters needs two. */
const getTextBytes = (text: string) => (NON_LATIN1_CHARACTER.test(text) ? 2 * text.length : text.length)

/** Memory of an event (bytes). */
export const getEventCost = ({ value, more }: Event): number =>
  EVENT_COST_BYTES + getTextBytes(value) + (more ? getExtrasCost(more) : 0)

function getExtrasCost({ alternates = [], id, type = '' }: EventExtras): number {
  return (
    EVENT_COST_BYTES +
    (id === undefined ? 0 : ID_COST_BYTES + getTextBytes(id)) +
    getTextBytes(type) +
    alternates.reduce((sum, name) => sum + STRING_COST_BYTES + getTextBytes(name), 0)
  )
}

/** Memory of a topic (bytes). */
export const getTopicCost = (name: string): number => TOPIC_COST_BYTES + getTextBytes(name)
