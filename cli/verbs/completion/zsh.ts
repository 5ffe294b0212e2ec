/** The completion script for zsh. */
import { formatCases, quote, type VerbWords } from './completion-words.ts';

export const formatZshScript = (verbs: readonly VerbWords[]): string => `#compdef ipledger
_ipledger() {
  case $words[CURRENT-1] in
${formatCases(verbs, ({ words, isFile }) => (isFile ? '_files; ' : words.length > 0 ? `compadd -- ${words.join(' ')}; ` : ''))}
  esac
  if (( CURRENT == 2 )); then
    local -a verbs=(
${verbs.map(({ name, description }) => `      ${quote(`${name}:${description}`)}`).join('\n')}
    )
    _describe verb verbs
    return
  fi
  case $words[2] in
${verbs.map(({ name, words, takesFile }) => `    ${name}) compadd -- ${words.join(' ')}${takesFile ? '; _files' : ''} ;;`).join('\n')}
  esac
}
compdef _ipledger ipledger
`;
