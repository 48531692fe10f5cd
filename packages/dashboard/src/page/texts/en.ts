import { campaign } from './en/campaign.ts'
import { campaigns } from './en/campaigns.ts'
import { frame } from './en/frame.ts'
import { links } from './en/links.ts'
import { parts } from './en/parts.ts'

/** All texts of the page in English, the source of the keys. The files in `en/` are parts of one list. */
export const texts = { ...campaign, ...campaigns, ...frame, ...links, ...parts } as const
