# cmake -DINPUT=FILE.html -DSCRIPTS=A.js:B.js -DOUTPUT=FILE.c -DHEADER=FILE.h -DNAME=name -P page.cmake: a page with its
# scripts in the place of @SCRIPT@, ASCII text, as an array of C.
file(READ ${INPUT} page)
string(REPLACE ":" ";" SCRIPTS ${SCRIPTS})
foreach(script IN LISTS SCRIPTS)
  file(READ ${script} text)
  string(APPEND scripts "${text}")
endforeach()
string(REPLACE "@SCRIPT@" "${scripts}" page "${page}")
string(HEX "${page}" hex)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "(................................................................................)" "\\1\n\t" bytes "${bytes}")
file(WRITE ${OUTPUT} "#include \"${HEADER}\"\n\nconst char ${NAME}[] = {\n\t${bytes}0\n};\n")
