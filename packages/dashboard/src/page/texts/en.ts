import { frame } from './en/frame.ts'
import { links } from './en/links.ts'

/** All texts of the page in English, the source of the keys. The files in `en/` are parts of one list. */
export const texts = { ...frame, ...links } as const
