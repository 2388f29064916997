import{Dt as e,F as t,I as n,Ot as r,P as i,g as a,h as o,j as s,kt as c}from"./shared-BtCVVk82.js";import{Gt as l,Ht as u,Kt as d,Lt as f,St as p,Tt as m,cn as h,ht as g,jt as _,k as v,ln as y,mt as b,sn as x}from"./index-BHAFdz8V.js";import{v as S}from"./protocol-CqPJEOhC.js";var C=20;function w({title:t,kind:n}){let{archive:r}=f.value,{entries:i,busy:s,more:c}=a(async t=>{let r=await e.listRatings({kind:n,pageSize:C,pageToken:t});return{entries:r.participants,next:r.nextPageToken}});return _(`section`,{class:`panel`,children:[_(`h2`,{children:[r.ranking,` · `,t]}),i?.length===0&&_(`p`,{class:`muted`,children:r.noRanking}),i&&i.length>0&&_(`table`,{class:`scores`,children:[_(`thead`,{children:_(`tr`,{children:[_(`th`,{scope:`col`,children:r.name}),_(`th`,{scope:`col`,children:r.rating}),_(`th`,{scope:`col`,children:r.deviation}),_(`th`,{scope:`col`,children:r.games})]})}),_(`tbody`,{children:i.map(({rank:e,participant:t,stats:n})=>_(`tr`,{children:[_(`th`,{scope:`row`,children:[e,`. `,_(o,{of:t})]}),_(`td`,{children:Math.round(n?.rating?.value??0)}),_(`td`,{children:Math.round(2*(n?.rating?.deviation??0))}),_(`td`,{children:n?.rating?.games})]},e))})]}),c&&_(`button`,{type:`button`,disabled:s,onClick:c,children:r.more})]})}var T=`# The usual names of openings, as in Robert Gatliff's list: a name, and the moves from the standard start after which the
# game has it.
Diagonal c4c3
X-Square c4c3d3c5b2
Snake c4c3d3c5b3
Lysons c4c3d3c5b3f3
Pyramid c4c3d3c5b3f4b5b4c6d6f5
Heath c4c3d3c5b4
Mimura Variation II c4c3d3c5b4d2c2f4d6c6f5e6f7
Heath-Bat c4c3d3c5b4d2d6
Iwasaki Variation c4c3d3c5b4d2e2
Heath-Chimney c4c3d3c5b4e3
Raccoon Dog c4c3d3c5b5
Rocket c4c3d3c5b6
Hamilton c4c3d3c5b6c6b5
Lollipop c4c3d3c5b6e3
Cow c4c3d3c5d6
Chimney c4c3d3c5d6e3
Cow Bat c4c3d3c5d6f4b4
Bat (Piau Continuation 2) c4c3d3c5d6f4b4b6b5c6b3
Bat (Piau Continuation 1) c4c3d3c5d6f4b4b6b5c6f5
Bat (Kling Continuation) c4c3d3c5d6f4b4c6b5b3b6e3c2a4a5a6d2
Bat (Kling Alternative) c4c3d3c5d6f4b4e3b3
Rose-v-Toth c4c3d3c5d6f4f5
Tanida c4c3d3c5d6f4f5d2
Aircraft c4c3d3c5d6f4f5d2b5
Sailboat c4c3d3c5d6f4f5d2g4d7
Maruoka c4c3d3c5d6f4f5e6c6d7
Landau c4c3d3c5d6f4f5e6f6
Buffalo c4c3d3c5f6
Maruoka Buffalo c4c3d3c5f6e2c6
Tanida Buffalo c4c3d3c5f6e3c6f5f4g5
Hokuriku Buffalo c4c3d3c5f6f5
Wing Variation c4c3e6c5
Semi-Wing Variation c4c3f5c5
Parallel c4c5
Perpendicular c4e3
Fishhook c4e3f4
Mimura c4e3f4c5d6e6
Shaman c4e3f4c5d6f3c6
Inoue c4e3f4c5d6f3d3
Iago c4e3f4c5d6f3d3c3
Bhagat c4e3f4c5d6f3e2
Rose c4e3f4c5d6f3e6c3d3e2
Flat c4e3f4c5d6f3e6c3d3e2b5
Rotating Flat c4e3f4c5d6f3e6c3d3e2b5f5
Murakami Variation c4e3f4c5d6f3e6c3d3e2b5f5b3
Rotating Flat (Kling Continuation) c4e3f4c5d6f3e6c3d3e2b5f5b4f6c2e7d2c7
Rose-Birth c4e3f4c5d6f3e6c3d3e2b6f5
Brightstein c4e3f4c5d6f3e6c3d3e2b6f5b4f6g5d7
Rose-Birdie c4e3f4c5d6f3e6c3d3e2b6f5g5
Rose-Tamenori-Kling c4e3f4c5d6f3e6c3d3e2b6f5g5f6
Greenberg c4e3f4c5d6f3e6c3d3e2d2
Ralle c4e3f4c5d6f3e6c6
Horse c4e3f4c5e6
Ganglion c4e3f5b4
Swallow c4e3f5b4f3
No-Cat (Continuation) c4e3f5b4f3f4e2e6g5f6d6c6
Italian c4e3f5e6d3
Cat c4e3f5e6f4
Sakaguchi c4e3f5e6f4c5d6c6f7f3
Berner c4e3f5e6f4c5d6c6f7g5g6
Bent Ganglion c4e3f6b4
Tiger c4e3f6e6f5
Stephenson c4e3f6e6f5c5c3
No-Kung c4e3f6e6f5c5c3b4
No-Kung (Continuation) c4e3f6e6f5c5c3b4d6c6b5a6b6c7
Comp'Oth c4e3f6e6f5c5c3c6
F.A.T. Draw c4e3f6e6f5c5c3c6d3d2e2b3c1c2b4a3a5b5a6a4a2
Scorpion c4e3f6e6f5c5c3c6d3d2
Lightning Bolt c4e3f6e6f5c5c3c6d6
Kung c4e3f6e6f5c5c3g5
Leader's Tiger c4e3f6e6f5c5d3
Brightwell c4e3f6e6f5c5d6
Grand Central c4e3f6e6f5c5f4g5
Ishii c4e3f6e6f5c5f4g5g4f3c6d3d6
Mainline Tiger c4e3f6e6f5c5f4g5g4f3c6d3d6b3c3b4e2b6
Rose-Bill c4e3f6e6f5c5f4g6f7
Tamenori c4e3f6e6f5c5f4g6f7d3
Nicolet c4e3f6e6f5c5f4g6f7d6
Central Rose-Bill c4e3f6e6f5c5f4g6f7g5
Aubrey c4e3f6e6f5g6
Aubrey (Feldborg Continuation) c4e3f6e6f5g6e7c5
`.split(`
`).filter(e=>e&&!e.startsWith(`#`)).map(e=>e.slice(0,e.lastIndexOf(` `))).sort((e,t)=>e.localeCompare(t,`en`));function E({name:e,choose:t}){let{archive:n}=f.value,[r,i]=d(``),a=l(``),o=l(null),s=async e=>{a.current=e,i(``);let n=e?await v(()=>p(()=>D(e))):void 0;a.current===e&&(n===`nobody`&&i(e),t(n===`nobody`?void 0:n))};return u(()=>{o.current&&!r&&(o.current.value=e)},[e]),_(`label`,{class:`field`,children:[_(`span`,{children:n.player}),_(`input`,{ref:o,type:`search`,maxLength:24,autoComplete:`off`,placeholder:n.playerName,onChange:e=>void s(e.currentTarget.value.trim())}),r&&_(`span`,{role:`alert`,children:n.nobody(r)})]})}async function D(t){try{return(await e.getPlayerStats({displayName:t})).player}catch(e){if(O.has(m(e).reason))return`nobody`;throw e}}var O=new Set([`PLAYER_NOT_FOUND`,`BAD_NAME`,`BAD_ARGUMENT`]);function k(e){let[t]=d(()=>matchMedia(`(min-width: 40rem)`).matches||h(e.filter)!==``);return _(`details`,{open:t,children:[_(`summary`,{children:f.value.archive.filter}),_(A,{...e})]})}function A({filter:e,change:r}){let{archive:a,create:o,stats:s}=f.value,c=[[S.UNSPECIFIED,a.any],[S.BLACK_WINS,a.blackWins],[S.WHITE_WINS,a.whiteWins],[S.DRAW,a.draw],[S.ABORTED,s.aborted]];return _(`div`,{class:`record-filter`,children:[_(E,{name:e.playerName,choose:e=>r({playerId:e?.playerId??``,playerName:e?.displayName??``})}),_(t,{kind:e.kind,set:e=>r({kind:e})}),_(i,{label:a.result,value:e.result,set:e=>r({result:Number(e)}),children:c.map(([e,t])=>_(`option`,{value:e,children:t}))}),_(i,{label:o.opening,value:e.opening,set:e=>r({opening:e}),children:[_(`option`,{value:``,children:a.any}),T.map(e=>_(`option`,{children:e}))]}),_(n,{minRating:e.minRating,set:e=>r({minRating:e})}),_(j,{label:a.from,value:e.from,set:e=>r({from:e})}),_(j,{label:a.until,value:e.until,set:e=>r({until:e})}),_(`label`,{class:`check`,children:[_(`input`,{type:`checkbox`,checked:e.rated,onChange:e=>r({rated:e.currentTarget.checked})}),_(`span`,{children:a.ratedOnly})]})]})}function j({label:e,value:t,set:n}){return _(`label`,{class:`field`,children:[_(`span`,{children:e}),_(`input`,{type:`date`,value:t,onChange:e=>n(e.currentTarget.value)})]})}var M=50;function N({filter:e}){let{archive:t}=f.value;return _(`div`,{class:`records`,children:[_(`div`,{class:`title-row`,children:[_(`h1`,{children:t.finished}),_(`a`,{class:`button`,href:x({screen:`explore`,moves:``}),children:t.openings})]}),_(`div`,{class:`records-columns`,children:[_(`section`,{class:`panel`,children:[_(`h2`,{children:t.games}),_(k,{filter:e,change:e=>{let t=g.value;t.screen===`records`&&b({screen:`records`,filter:{...t.filter,...e}})}}),_(P,{filter:e},JSON.stringify(e))]}),_(`div`,{class:`stack`,children:[_(`p`,{class:`hint`,children:t.ratingScale}),_(w,{title:f.value.stats.humans,kind:r.HUMAN}),_(w,{title:f.value.stats.bots,kind:r.BOT}),_(w,{title:f.value.stats.ais,kind:r.AI})]})]})]})}function P({filter:t}){let{archive:n,stats:r,connection:i}=f.value,{entries:o,busy:c,more:l}=a(async n=>{let r=await e.listGames({filter:F(t),pageSize:M,pageToken:n});return{entries:r.games,next:r.nextPageToken}});return _(y,{children:[!o&&!l&&_(`p`,{class:`muted`,children:i.loading}),o?.length===0&&_(`p`,{class:`muted`,children:n.noGames}),o&&_(s,{games:o}),l&&_(`button`,{type:`button`,disabled:c,onClick:l,children:r.more})]})}function F({from:e,until:t,rated:n,playerName:r,...i}){return{...i,...n&&{rated:n},...e&&{endedFrom:c(I(e))},...t&&{endedBefore:c(I(t,1))}}}function I(e,t=0){let n=new Date(`${e}T00:00`);return n.setDate(n.getDate()+t),n}export{N as RecordsScreen};