import type { links as english } from '../en/links.ts'
import type { Translation } from '../text-types.ts'

export const links: Translation<typeof english> = {
  'links.title': 'Kundenlinks',
  'links.note':
    'Wer einen Link hat, sieht die Kampagne, bis der Link abläuft, widerrufen wird oder die Kampagne gelöscht ist.',
  'links.none': 'Kein gültiger Link. Neue Links entstehen auf der Seite einer Kampagne.',
  'links.deleted': 'Die Kampagne wurde gelöscht: Dieser Link zeigt nichts mehr.',
  'links.unknown': 'Stats antwortet nicht: Ob es die Kampagne noch gibt, ist nicht bekannt.',
  'links.link': 'Link',
  'links.linkTo': 'Link zu {name}',
  'links.copy': 'Kopieren',
  'links.copied': 'Kopiert',
  'links.revoke': 'Widerrufen',
  'links.until': 'bis {day}',

  'share.note':
    'Wer den Link hat, sieht die Live-Zahlen dieser Kampagne, bis er abläuft oder widerrufen wird. Er zeigt weder Kosten noch andere Kampagnen. <all>Alle Links</all>',
  'share.validFor': 'Gültig für',
  'share.days': { one: '{count} Tag', other: '{count} Tage' },
  'share.create': 'Link erstellen',
}
