# cmake -DINPUT=FILE -DOUTPUT=FILE.c -DHEADER=FILE.h -DNAME=name -P text_array.cmake: ASCII text as an array of C.
file(READ ${INPUT} hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "(................................................................................)" "\\1\n\t" bytes "${bytes}")
file(WRITE ${OUTPUT} "#include \"${HEADER}\"\n\nconst char ${NAME}[] = {\n\t${bytes}0\n};\n")
