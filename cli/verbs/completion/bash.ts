/** The completion script for bash. */
import { formatCases, type VerbWords } from './completion-words.ts';

export const formatBashScript = (verbs: readonly VerbWords[]): string => `# ipledger: completion for bash
_ipledger() {
  local words= cur=\${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=()
  case \${COMP_WORDS[COMP_CWORD-1]} in
${formatCases(verbs, ({ words }) => (words.length > 0 ? `COMPREPLY=($(compgen -W '${words.join(' ')}' -- "$cur")); ` : ''))}
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    words='${verbs.map(({ name }) => name).join(' ')}'
  else
    case \${COMP_WORDS[1]} in
${verbs.map(({ name, words }) => `      ${name}) words='${words.join(' ')}' ;;`).join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _ipledger ipledger
`;
